// How the server is built into lib/: all code in a few files. Hundreds of small ones, ours and those of
// the dependencies, cost a start as much as all the rest of it.
export default {
  logLevel: 'warn',
  publicDir: false,
  // Loggers load their own files by name while they run.
  ssr: { noExternal: true, external: ['pino'] },
  build: {
    ssr: 'src/main.ts',
    outDir: 'lib',
    emptyOutDir: true,
    target: 'node26',
    minify: false,
    sourcemap: true,
    // All beside one another: the program finds its own package.json one folder up.
    rolldownOptions: { output: { chunkFileNames: '[name]-[hash].js' } },
  },
};
