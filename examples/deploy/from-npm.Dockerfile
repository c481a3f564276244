# In a folder whose package.json depends on tollhouse: docker build --file <this file> --tag tollhouse .
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# `dist` is where it is in an image of the repository, so that each command that is told for one holds for the other.
RUN npm ci --omit=dev --ignore-scripts && ln -s node_modules/tollhouse/dist dist

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4020 METRICS_HOST=0.0.0.0 METRICS_PORT=9464 DATABASE_URL=sqlite:/data/tollhouse.db
WORKDIR /data
RUN chown 10001:10001 .
WORKDIR /app
COPY --from=build /build ./
USER 10001:10001
VOLUME /data
# Publish the first one only: the second has the figures, for Prometheus.
EXPOSE 4020 9464
STOPSIGNAL SIGTERM
# Whether it lives: starting it anew mends no RPC provider. Whether it can take payments is /readyz, for the proxy.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/cli.js", "serve", "--json"]
