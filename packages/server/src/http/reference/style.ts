// The look of the reference page. Spaces and line ends are the layout of our source.
import { entry } from './style-entry.ts'
import { frame } from './style-frame.ts'
import { narrow } from './style-narrow.ts'
import { parts } from './style-parts.ts'

// The narrow rules come last, because they win by their place.
export const style = [frame, entry, parts, narrow].join('').replaceAll(/\s+/g, ' ')
