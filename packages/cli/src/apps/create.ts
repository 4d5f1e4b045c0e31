// Copies a template into a new directory, under the name that the user chose.
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'
import { askOne, askText } from '../output/questions.ts'
import { LANGUAGES, languageOf, TEMPLATES, type Language } from './templates.ts'

/** Beside the bundle, and beside the sources. */
const templates = ['../templates', '../../templates']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path))

export async function run(context: Context): Promise<void> {
  const { options, terminal } = context
  const language = await chooseLanguage(context)
  const template = await chooseTemplate(context)
  const directory = resolve(await chooseDirectory(context, template))
  const name = nameOf((options['name'] as string | undefined) ?? basename(directory))
  await copyTemplate({ language, template, directory, name })
  const entry = language === 'typescript' ? 'index.ts' : 'main.py'
  terminal.note(`Created ${directory}`)
  terminal.note(`Deploy it: cd ${shellWord(directory)} && berth deploy ${entry}`)
  terminal.note(`Then:      berth invoke ${name} ${TEMPLATES[template]!.action}`)
}

export interface Copy {
  readonly language: Language
  readonly template: string
  readonly directory: string
  readonly name: string
}

/** The directory is there when it is whole. */
export async function copyTemplate({ language, template, directory, name }: Copy): Promise<void> {
  if (templates === undefined) throw new Error('The templates are not beside the program')
  if (existsSync(directory) && (await readdir(directory)).length > 0)
    throw usage(`Cannot create the app in ${directory}: the directory is not empty`, 'Name another directory')
  await mkdir(dirname(directory), { recursive: true })
  const part = join(dirname(directory), `.${basename(directory)}.${randomUUID().slice(0, 8)}`)
  try {
    await cp(join(templates, language, template), part, { recursive: true })
    // npm leaves out files of this name when it packs.
    await rename(join(part, 'gitignore'), join(part, '.gitignore'))
    for (const file of await readdir(part)) {
      const path = join(part, file)
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.replaceAll('APP_NAME', name))
    }
    // It may take the place of an empty directory.
    await rename(part, directory)
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

async function chooseLanguage({ options, terminal }: Context): Promise<Language> {
  const given = options['language'] as string | undefined
  if (given !== undefined) return languageOf(given)
  if (!terminal.isInteractive)
    throw usage(
      'Cannot ask for the language: there is no terminal',
      'Say it with --language typescript or --language python',
    )
  return languageOf(
    await askOne(terminal, { message: 'Language', options: LANGUAGES.map((value) => ({ value })) }),
  )
}

async function chooseTemplate({ options, terminal }: Context): Promise<string> {
  const given = options['template'] as string | undefined
  const names = Object.keys(TEMPLATES)
  if (given !== undefined) {
    if (names.includes(given)) return given
    throw usage(`Cannot find the template "${given}"`, `There are: ${names.join(', ')}`)
  }
  if (!terminal.isInteractive)
    throw usage(
      'Cannot ask for the template: there is no terminal',
      `Say it with --template ${names.join('|')}`,
    )
  const choices = names.map((value) => ({ value, hint: TEMPLATES[value]!.about }))
  return askOne(terminal, { message: 'Template', options: choices })
}

async function chooseDirectory({ args, options, terminal }: Context, template: string): Promise<string> {
  const given = (args[0] as string | undefined) ?? (options['name'] as string | undefined)
  if (given !== undefined) return given
  if (!terminal.isInteractive)
    throw usage(
      'Cannot ask for the directory: there is no terminal',
      'Name it: berth create my-app --language typescript --template hello',
    )
  return askText(terminal, { message: 'Directory', initial: template })
}

function nameOf(text: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,62}$/i.test(text)) return text
  throw usage(
    `Cannot use "${text}" as the name of an app`,
    'Use letters, digits, dashes and underscores, and say it with --name',
  )
}

const shellWord = (text: string) =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
