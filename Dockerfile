# The build stage installs every dependency. The image leaves out development and optional ones, and those of the workspaces:
# a deployment has its own ClickHouse and node, so it needs neither the embedded engine nor the local chain, which are most
# of the size.
FROM node:26.10.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY local/engine/package.json local/engine/
COPY local/chain/package.json local/chain/
COPY dashboard/package.json dashboard/
COPY clients/typescript/package.json clients/typescript/
COPY clients/mcp/package.json clients/mcp/
COPY clients/cli/package.json clients/cli/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --omit=optional --workspaces=false --ignore-scripts

FROM node:26.10.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 3000
CMD ["node", "dist/api/server.js"]
