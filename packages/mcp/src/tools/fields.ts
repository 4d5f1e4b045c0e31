// Inputs of the tools that manage resources.
import { Type } from 'typebox'

export const text = (description: string, maxLength = 255) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }))
/** Where an empty text means something. */
export const anyText = (description: string, maxLength = 255) =>
  Type.Optional(Type.String({ maxLength, description }))
export const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
export const whole = (description: string, limits: object = {}) =>
  Type.Optional(Type.Integer({ description, ...limits }))
export const words = (description: string, maxItems = 100) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems, description }))
export const values = (description: string) =>
  Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 10_000 }), { description, maxProperties: 100 }),
  )
