# Built with every dependency, run with the few that a deployment needs: it has a ClickHouse and a node of its own, so
# the optional ones are left out, among them the embedded engine and the local chain, which are most of the size.
FROM node:26.10.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:26.10.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 3000
CMD ["node", "dist/api/server.js"]
