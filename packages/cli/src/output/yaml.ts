// Loaded when somebody asks for YAML. It stands in its own file because a bundle passes on the names of a CommonJS
// package only to a plain import.
import { stringify } from 'yaml'

export const yamlOf = (value: unknown): string => stringify(value, { lineWidth: 0 })
