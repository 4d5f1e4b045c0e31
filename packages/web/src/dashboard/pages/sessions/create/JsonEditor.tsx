import { useEffect, useRef } from 'react'
import { closeBrackets } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'

export interface JsonEditorProps {
  readonly id: string
  readonly label: string
  readonly aboutId?: string | undefined
  readonly text: string
  readonly onChange: (text: string) => void
}

export function JsonEditor({ id, label, aboutId, text, onChange }: JsonEditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const first = useRef(text)
  const tell = useRef(onChange)
  tell.current = onChange
  useEffect(() => {
    const view = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          history(),
          closeBrackets(),
          bracketMatching(),
          json(),
          syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
          EditorView.lineWrapping,
          // Tab leaves the field, as in every other.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of({
            id,
            'aria-label': label,
            ...(aboutId !== undefined && { 'aria-describedby': aboutId }),
          }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) tell.current(state.doc.toString())
          }),
        ],
      }),
    })
    return () => view.destroy()
  }, [id, label, aboutId])
  return <div className="json-editor" ref={place} />
}
