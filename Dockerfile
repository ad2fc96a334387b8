# Node 24 gets security fixes until April 2028.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY build.js tsconfig.json ormconfig.ts ./
COPY schema ./schema
COPY src ./src
COPY browser ./browser
COPY client ./client
COPY docs/clients.md ./docs/clients.md
COPY docs/clients ./docs/clients
RUN npm run build && npm prune --omit=dev
# Half of the packages never runs: types, source maps, texts, builds for browsers and for another C library.
RUN find node_modules -type f ! -iname 'licen[cs]e*' \
      \( -name '*.ts' -o -name '*.cts' -o -name '*.mts' -o -name '*.map' -o -name '*.md' -o -name '*.flow' \) -delete \
  && rm -rf node_modules/@types node_modules/@libsql/*-musl node_modules/typeorm/browser
# The default database is an SQLite file: the unprivileged user needs a folder with write access.
RUN mkdir var

# Node and the C library, without a shell and a package manager. The user `nonroot` has the number 65532. D-161.
FROM gcr.io/distroless/nodejs24-debian12:nonroot
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# The texts of the pages, which the gateway renders.
COPY --from=build /app/browser/pages/reference/guides ./browser/pages/reference/guides
COPY --from=build /app/docs ./docs
COPY --from=build --chown=65532:65532 /app/var ./var
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["/nodejs/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The entry point of the base image is Node.
CMD ["dist/src/main.js"]
