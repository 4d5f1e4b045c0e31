// Scalar's browser bundle, a single file. It is part of two npm packages: `@scalar/api-reference` needs 270 other
// packages that the bundle already contains, Scalar's Fastify plugin only 20. The plugin serves exactly that file, so
// we request it from the plugin. The plugin runs only in the build, not in our server.
import scalar from '@scalar/fastify-api-reference'
import fastify from 'fastify'

export async function scalarBundle(): Promise<Buffer> {
  const server = fastify()
  await server.register(scalar, { routePrefix: '/reference', configuration: { url: '/openapi.json' } })
  const { statusCode, rawPayload } = await server.inject('/reference/js/scalar.js')
  await server.close()
  if (statusCode !== 200) throw new Error(`Scalar's plugin answered ${statusCode} for its bundle`)
  return rawPayload
}
