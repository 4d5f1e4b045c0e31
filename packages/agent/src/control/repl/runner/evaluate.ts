// Evaluates code as the console of a debugger does: `await` anywhere, and names stay for the next code, which may declare
// them again. That is a mode of V8, reached over Node's own inspector; no port is opened. Node's `repl` module rewrites
// the source for `await` instead, and refuses a second `const` of the same name.
import { Session, type Runtime } from 'node:inspector/promises'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { isPromise } from 'node:util/types'
import vm from 'node:vm'

const NAME = 'berth-repl'
const GROUP = 'call'

/** The types of Node do not know all of them. */
interface EvaluateParameters extends Runtime.EvaluateParameterType {
  readonly replMode: true
  readonly awaitPromise: true
}

export type Globals = Record<string, unknown>

/** The code threw. */
export class Thrown extends Error {
  readonly thrown: unknown
  /** Of a syntax error: where, from 1. */
  readonly place: { readonly line: number; readonly column: number } | undefined

  constructor(thrown: unknown, place: Thrown['place']) {
    super('The code threw')
    this.thrown = thrown
    this.place = place
  }
}

export class Evaluator {
  readonly globals: Globals
  readonly #session: Session
  readonly #contextId: number
  /** An object of the context, through which values leave it. */
  readonly #holder: { value?: unknown }
  readonly #holderId: string
  #count = 0

  private constructor(options: {
    globals: Globals
    session: Session
    contextId: number
    holder: { value?: unknown }
    holderId: string
  }) {
    this.globals = options.globals
    this.#session = options.session
    this.#contextId = options.contextId
    this.#holder = options.holder
    this.#holderId = options.holderId
  }

  static async open(): Promise<Evaluator> {
    // A context of its own, because in the main one `import()` of such code is refused.
    const globals: Globals = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
      name: NAME,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    addNodesGlobals(globals)
    const session = new Session()
    session.connect()
    const found = Promise.withResolvers<number>()
    session.on('Runtime.executionContextCreated', ({ params }) => {
      if (params.context.name === NAME) found.resolve(params.context.id)
    })
    await session.post('Runtime.enable')
    const contextId = await found.promise
    // Otherwise it would keep what was printed.
    await session.post('Runtime.disable')
    const holder = vm.runInContext('({})', globals) as { value?: unknown }
    globals[NAME] = holder
    const { result } = await session.post('Runtime.evaluate', { expression: `this['${NAME}']`, contextId })
    delete globals[NAME]
    return new Evaluator({ globals, session, contextId, holder, holderId: result.objectId! })
  }

  /** The value of the last expression; of a promise, what it becomes. */
  async evaluate(code: string): Promise<unknown> {
    try {
      const parameters: EvaluateParameters = {
        expression: `${withoutTypes(code)}\n//# sourceURL=call-${++this.#count}.ts`,
        contextId: this.#contextId,
        objectGroup: GROUP,
        replMode: true,
        awaitPromise: true,
      }
      const { result, exceptionDetails: failure } = await this.#session.post('Runtime.evaluate', parameters)
      const { value } = await this.#take(failure?.exception ?? result)
      if (failure) throw new Thrown(value, placeOf(failure))
      return isPromise(value) ? await value.catch(rethrow) : value
    } finally {
      await this.#session.post('Runtime.releaseObjectGroup', { objectGroup: GROUP })
    }
  }

  /** In an object, because a value that is a promise would be awaited. */
  async #take({ objectId, unserializableValue, value }: Runtime.RemoteObject): Promise<{ value?: unknown }> {
    const argument = objectId ? { objectId } : unserializableValue ? { unserializableValue } : { value }
    await this.#session.post('Runtime.callFunctionOn', {
      objectId: this.#holderId,
      functionDeclaration: 'function (value) { this.value = value }',
      arguments: [argument],
    })
    const taken = { value: this.#holder.value }
    delete this.#holder.value
    return taken
  }
}

const rethrow = (error: unknown): never => {
  throw new Thrown(error, undefined)
}

/** A new context has only what the language has. */
function addNodesGlobals(globals: Globals): void {
  const own = new Set(Object.getOwnPropertyNames(globals))
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    if (!own.has(name)) Object.defineProperty(globals, name, descriptor)
  }
  // Node's own setters of these would change them for the whole process.
  for (const [name, value] of Object.entries({ process, Buffer })) {
    Object.defineProperty(globals, name, { value, writable: true, configurable: true })
  }
  globals['global'] = globals
  // It has one of its own, which only a debugger sees.
  globals['console'] = console
  globals['require'] = createRequire(join(process.cwd(), 'repl.js'))
}

/** If it cannot be read as TypeScript, V8 says what is wrong with it. */
function withoutTypes(code: string): string {
  for (const mode of ['strip', 'transform'] as const) {
    try {
      return stripTypeScriptTypes(code, { mode })
    } catch (error) {
      // Enums and parameter properties are more than types.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return code
    }
  }
  return code
}

/** Of code that could not even start. */
function placeOf({ exception, lineNumber, columnNumber }: Runtime.ExceptionDetails): Thrown['place'] {
  const hasRun = /^ {4}at .*call-\d+\.ts/m.test(exception?.description ?? '')
  if (exception?.className !== 'SyntaxError' || hasRun) return undefined
  return { line: lineNumber + 1, column: columnNumber + 1 }
}
