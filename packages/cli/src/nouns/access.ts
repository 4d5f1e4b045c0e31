import type { FlagRow, Noun } from '../command/rows.ts'

const keyFromStdin: FlagRow = { flags: '--key-stdin', help: 'Read the key from stdin, without a question' }

export const login: Noun = {
  name: 'login',
  summary: 'Store the address and the key of a server',
  verbs: [],
  itself: {
    args: '[url]',
    flags: [
      keyFromStdin,
      { flags: '--name <context>', help: 'The name of the context; made from the address by default' },
      { flags: '--force', help: 'Replace a stored key without a question' },
    ],
    notes:
      'The key is asked for, or read from stdin: it is never an argument, so it is in no history of a shell.\nIt is stored in a file that only you can read.',
    run: () => import('../access/login.ts'),
  },
}

export const logout: Noun = {
  name: 'logout',
  summary: 'Forget the key of a server',
  verbs: [],
  itself: { args: '[name]', run: () => import('../access/logout.ts') },
}

export const context: Noun = {
  name: 'context',
  aliases: ['contexts'],
  summary: 'Switch between servers',
  columns: 'current=current name url project key',
  itself: { summary: 'Show the current context', run: () => import('../access/contexts.ts') },
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      summary: 'List the contexts',
      run: () => import('../access/contexts.ts'),
    },
    {
      name: 'use',
      aliases: ['switch'],
      summary: 'Make a context the current one',
      args: '<name>',
      run: () => import('../access/contexts.ts'),
    },
    {
      name: 'add',
      summary: 'Add a server; the key is asked for',
      args: '<name> <url>',
      flags: [
        keyFromStdin,
        { flags: '--default-project <id-or-name>', help: 'The project that its commands use' },
        { flags: '--use', help: 'Make it the current one' },
      ],
      run: () => import('../access/contexts.ts'),
    },
    {
      name: 'delete',
      aliases: ['rm'],
      summary: 'Forget a server and its key',
      args: '<name>',
      confirm: 'terminal',
      run: () => import('../access/contexts.ts'),
    },
  ],
}
