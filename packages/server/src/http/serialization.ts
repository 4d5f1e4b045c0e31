// Answers by the contract's schemas, so that no column leaks. The first answer of an operation compiles its schema;
// compiling all of them at the start would delay it by 80 ms.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type BuildSerializer = ReturnType<typeof SerializerSelector>

export const compileSerializerLater: BuildSerializer = (externalSchemas, options) => {
  const compile = SerializerSelector()(externalSchemas, options)
  return (route) => {
    let serialize: ReturnType<typeof compile> | undefined
    return (answer) => (serialize ??= compile(route))(answer)
  }
}
