// Modules that the build provides.

declare module 'virtual:theme-variables.css';
