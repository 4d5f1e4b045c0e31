// Marks a template as style sheet for editors and the formatter; it is plain text.
export const css = String.raw
