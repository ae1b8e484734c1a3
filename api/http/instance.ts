import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import { serializerCompiler, validatorCompiler } from './compilers.js'
import { CONNECTION_LIMITS } from './connection-limits.js'
import { jsonBodies } from './json-bodies.js'
import { rawProblem, sendProblem } from './problem.js'
import { ID_LABEL, tracedLogger } from './request-log.js'

type Options = {
  logger: FastifyBaseLogger
  /** Makes the id of a request. */
  newId: () => string
  /** Addresses and networks of the proxies whose X-Forwarded-For is trusted. */
  trustProxy: string[]
  /** How long a connection may be idle between requests. */
  keepAliveSeconds: number
}

/** A Fastify instance with this service's validation, serialization and error handling, without routes. */
export function httpInstance({ logger, newId, trustProxy, keepAliveSeconds }: Options) {
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: ID_LABEL }),
    genReqId: newId,
    ...CONNECTION_LIMITS,
    keepAliveTimeout: keepAliveSeconds * 1000,
    trustProxy: trustProxy.length > 0 && trustProxy,
    childLoggerFactory: tracedLogger,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 2048, ignoreTrailingSlash: true },
    frameworkErrors: sendProblem,
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(rawProblem((error as NodeJS.ErrnoException).code))
      else socket.destroy()
    },
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(sendProblem)
  jsonBodies(app)
  return app
}
