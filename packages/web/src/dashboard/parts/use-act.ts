// One act of a person: it runs once at a time, says that it is done or why not, and reads again what it changed.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { say, sayProblem } from './toasts.ts'

export interface ActOptions<Input, Answer> {
  readonly run: (input: Input) => Promise<Answer>
  /** What is said when it is done; nothing when omitted. */
  readonly done?: string | ((answer: Answer, input: Input) => string)
  /** The kinds of resources that it changes. */
  readonly changes?: readonly string[]
  readonly onDone?: (answer: Answer, input: Input) => void
  /** The page shows the problem itself. */
  readonly isQuiet?: boolean
}

export function useAct<Input = void, Answer = unknown>(options: ActOptions<Input, Answer>) {
  const { run, done, changes = [], onDone, isQuiet = false } = options
  const queries = useQueryClient()
  return useMutation<Answer, unknown, Input>({
    mutationFn: run,
    onSuccess: async (answer, input) => {
      if (done !== undefined) say(typeof done === 'string' ? done : done(answer, input))
      onDone?.(answer, input)
      await Promise.all(changes.map((kind) => queries.invalidateQueries({ queryKey: [kind] })))
    },
    ...(!isQuiet && { onError: sayProblem }),
  })
}
