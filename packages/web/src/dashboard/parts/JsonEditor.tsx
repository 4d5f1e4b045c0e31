// A field for JSON. Load the module lazily: it is large.
import { useEffect, useRef } from 'react'
import { closeBrackets } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { colours } from './editor-colours.ts'

const look = EditorView.theme({
  '&': { border: '1px solid var(--line)', borderRadius: '8px', background: 'var(--field)' },
  '&.cm-focused': { outline: '3px solid var(--focus)' },
  '.cm-content': {
    minHeight: '110px',
    fontFamily: 'var(--mono)',
    fontSize: '12.5px',
    caretColor: 'var(--text)',
  },
  '.cm-scroller': { maxHeight: '40vh', overflow: 'auto' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-matchingBracket': { background: 'var(--accent-surface)' },
})

export interface JsonEditorProps {
  readonly label: string
  readonly id?: string
  /** Of the element that explains it. */
  readonly aboutId?: string | undefined
  readonly text: string
  readonly onChange: (text: string) => void
}

export default function JsonEditor({ label, id, aboutId, text, onChange }: JsonEditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const changed = useRef(onChange)
  changed.current = onChange
  const first = useRef(text)
  useEffect(() => {
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          json(),
          history(),
          bracketMatching(),
          closeBrackets(),
          // Tab goes on to the next field, so that the keyboard is not caught here.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({
            'aria-label': label,
            spellcheck: 'false',
            ...(id !== undefined && { id }),
            ...(aboutId !== undefined && { 'aria-describedby': aboutId }),
          }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) changed.current(state.doc.toString())
          }),
          syntaxHighlighting(colours),
          look,
        ],
      }),
    })
    return () => editor.destroy()
  }, [label, id, aboutId])
  return <div ref={place} />
}
