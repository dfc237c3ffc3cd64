# The gateway as an image: node and what the gateway is built into, on the few libraries that node is linked against.
# No shell, no package manager, no compiler. docs/install.md says how to build and run it.
#
# BASE is a public image by its tag, which may move. For a build that can be repeated give it by digest, as
# `docker buildx imagetools inspect node:26.10.0-trixie-slim` prints it:
#   docker build --build-arg BASE=docker.io/library/node@sha256:… --tag isthmus .
ARG BASE=docker.io/library/node:26.10.0-trixie-slim

# What the package holds, with the versions of package-lock.json. No package needs its install script for that.
FROM ${BASE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY console/package.json console/
COPY packages/sandbox/package.json packages/sandbox/
COPY src/package.json src/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/prepack.mjs && rm -r lib/*.map lib/.built-from dist/.built-from dist/.vite

# The root of the image: packages of Debian, unpacked as they are, node without its symbols, and a user. Scanners of
# vulnerabilities read in status.d which packages an image without dpkg is made of.
FROM ${BASE} AS system
WORKDIR /packages
RUN apt-get update \
 && apt-get install --yes --no-install-recommends binutils \
 && apt-get download base-files libatomic1 libc6 libgcc-s1 libstdc++6 \
 && mkdir --parents /image/var/lib/dpkg/status.d \
 && for package in *.deb; do \
      dpkg --extract "$package" /image \
   && dpkg-deb --field "$package" > "/image/var/lib/dpkg/status.d/${package%%_*}" || exit 1; \
    done
WORKDIR /image
RUN find usr/share/doc -type f ! -name copyright -delete \
 && rm -rf etc/update-motd.d usr/lib/*-linux-gnu/gconv usr/share/lintian usr/share/man \
 && mkdir --parents usr/local/bin data \
 && strip -o usr/local/bin/node "$(command -v node)" \
 && printf '#!/usr/local/bin/node\nimport "/opt/isthmus/lib/main.js";\n' > usr/local/bin/isthmus \
 && chmod 755 usr/local/bin/isthmus \
 && echo 'isthmus:x:1000:1000::/data:/usr/sbin/nologin' > etc/passwd \
 && echo 'isthmus:x:1000:' > etc/group \
 && echo 'hosts: files dns' > etc/nsswitch.conf \
 && chown 1000:1000 data

FROM scratch
COPY --from=system /image /
COPY --from=build /build/package.json /build/LICENSE /build/NOTICES.txt /build/SBOM.cdx.json /opt/isthmus/
COPY --from=build /build/lib /opt/isthmus/lib/
COPY --from=build /build/dist /opt/isthmus/dist/

LABEL org.opencontainers.image.title="isthmus" \
      org.opencontainers.image.description="One local address for every model client: a multi-protocol model gateway." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"

# Listens on every address, so that nothing is served without a key: where API_KEY is not set, the first start makes one.
ENV PATH=/usr/local/bin \
    HOME=/data \
    HOST=0.0.0.0 \
    PORT=8045 \
    ISTHMUS_DATA_DIR=/data
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 8045
# Drains: running responses get 30 s, so whoever stops the container has to wait longer (docker stop --timeout 45).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["isthmus", "health"]
ENTRYPOINT ["isthmus"]
CMD ["serve"]
