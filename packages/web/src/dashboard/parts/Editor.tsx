// A code editor. Load the module lazily: it is large.
import { useEffect, useRef } from 'react'
import {
  autocompletion,
  closeBrackets,
  completionKeymap,
  type CompletionSource,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  defaultHighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { colours } from './editor-colours.ts'
import './editor.css'

export type EditorLanguage = 'typescript' | 'json' | 'text'

export interface EditorProps {
  readonly label: string
  /** What it starts with; another key starts another text. */
  readonly text: string
  readonly language: EditorLanguage
  readonly isReadOnly?: boolean
  readonly complete?: CompletionSource
  readonly onChange?: (text: string) => void
  /** Ctrl-Enter, or Command-Enter. */
  readonly onRun?: () => void
  /** Ctrl-S, or Command-S. */
  readonly onSave?: () => void
}

export default function Editor(props: EditorProps) {
  const box = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const { text, language, label, isReadOnly = false } = props
  useEffect(() => {
    const act = (name: 'onRun' | 'onSave') => () => {
      latest.current[name]?.()
      return latest.current[name] !== undefined
    }
    const view = new EditorView({
      parent: box.current!,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          keymap.of([
            { key: 'Mod-Enter', run: act('onRun') },
            { key: 'Mod-s', run: act('onSave'), preventDefault: true },
            ...completionKeymap,
            ...historyKeymap,
            ...defaultKeymap,
            indentWithTab,
          ]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange?.(update.state.doc.toString())
          }),
          ...completionsOf(latest.current.complete),
          ...languageOf(language),
          syntaxHighlighting(colours),
          syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
          look,
        ],
      }),
    })
    return () => view.destroy()
  }, [text, language, label, isReadOnly])
  return <div className="editor" ref={box} />
}

const completionsOf = (source: CompletionSource | undefined): Extension[] =>
  source ? [autocompletion({ override: [source] })] : []

function languageOf(language: EditorLanguage): Extension[] {
  if (language === 'typescript') return [javascript({ typescript: true })]
  return language === 'json' ? [json()] : []
}

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--code)', color: 'var(--text)', fontSize: '13px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--code)', color: 'var(--quiet)', border: '0' },
  // Coloured words must stay legible.
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '.cm-content': { caretColor: 'var(--accent)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--focus) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-surface)',
    color: 'var(--text)',
  },
})
