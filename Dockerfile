# The image of Berth: the server, and all that an instance needs. docs/install.md says how to run it on one machine,
# docs/kubernetes.md how to run it on a cluster.
#
#   docker build --tag berth .
#   docker build --tag berth --platform linux/arm64 .
#
# A release pins the two bases by digest: --build-arg DEBIAN_IMAGE=debian:12-slim@sha256:...
# Node itself and all npm packages come with hashes, from scripts/node and package-lock.json.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
ARG DEBIAN_IMAGE=docker.io/library/debian:12-slim

# What is built: packages of production, and the bundles. Nothing of this stage stays but what is copied from it.
FROM ${NODE_IMAGE} AS build
WORKDIR /opt/berth
COPY scripts/node scripts/node
RUN cd scripts/node && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
COPY .npmrc package.json package-lock.json ./
COPY packages/agent/package.json packages/agent/
COPY packages/cli/package.json packages/cli/
COPY packages/codecs/package.json packages/codecs/
COPY packages/contracts/package.json packages/contracts/
COPY packages/kit/package.json packages/kit/
COPY packages/login/package.json packages/login/
COPY packages/mcp/package.json packages/mcp/
COPY packages/server/package.json packages/server/
COPY packages/web/package.json packages/web/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
COPY scripts scripts
COPY packages packages
COPY docs docs
# Further versions of Playwright for its own protocol, such as "1.64,1.63"; see docs/operating.md.
ARG BERTH_PLAYWRIGHT_VERSIONS=""
RUN node scripts/image/collect.mjs /out

FROM ${DEBIAN_IMAGE}
# With the address of an archive of snapshots and a time such as 20261101T000000Z, Debian's packages are those of that time.
# Empty: the newest, with all fixes.
ARG DEBIAN_ARCHIVE=""
ARG DEBIAN_SNAPSHOT=""
# What apps are built with, and what people expect beside a shell.
ARG TOOLS="curl file git jq less openssl procps python3 python3-pip python3-venv unzip wget xz-utils zip"
# Further packages that sessions see; see BERTH_INSTANCE_PACKAGES in docs/operating.md.
ARG BERTH_INSTANCE_PACKAGES=""
COPY --from=build /out/node /usr/local/bin/node
COPY --from=build /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
COPY scripts/lib/system-packages.json /opt/berth/scripts/lib/
COPY scripts/lib/system /opt/berth/scripts/lib/system
COPY scripts/image/install.sh scripts/image/sources.sh scripts/image/system.mjs /opt/berth/scripts/image/
# One layer: what instances see are hard links to the installed files, which take no space only in the same layer.
RUN sh /opt/berth/scripts/image/install.sh
COPY --from=build /out/node_modules /opt/berth/node_modules
COPY deploy/image/berth /usr/local/bin/berth
COPY deploy/image/health.mjs /opt/berth/deploy/image/
COPY LICENSE sbom.json package.json /opt/berth/
COPY --from=build /out/packages /opt/berth/packages

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Berth" \
  org.opencontainers.image.description="A self-hosted browser cloud" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
ARG BERTH_PLAYWRIGHT_VERSIONS=""
ENV BERTH_DATA_DIR=/data BERTH_HOST=0.0.0.0 BERTH_PLAYWRIGHT_VERSIONS=${BERTH_PLAYWRIGHT_VERSIONS}
WORKDIR /opt/berth
VOLUME /data
EXPOSE 8080
# The account berth. By number, so that a cluster can tell that it is not root.
USER 10001:10001
# The keeper does not wait for processes that are not its own, so an init does.
ENTRYPOINT ["/usr/bin/tini", "--", "berth"]
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["berth", "health"]
