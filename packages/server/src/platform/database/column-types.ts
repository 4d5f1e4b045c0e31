// How values convert between our code and each column type, and how a table type is narrowed
// beyond what PostgreSQL knows.
import type { ColumnType, InsertType, SelectType, UpdateType } from 'kysely'

/** timestamptz: read as the API writes it, see time.ts. */
export type Time = ColumnType<string, string | Date, string | Date>

/** bigint: read as text, because a JavaScript number cannot hold every value. */
export type BigNumber = ColumnType<string, string | number, string | number>

declare const unread: unique symbol
/** A document whose type is missing from `ColumnValues`. */
interface UnknownDocument {
  readonly [unread]: true
}
/** jsonb: read as a value, written as text. */
export type Json = ColumnType<UnknownDocument, string, string>

/** A table's columns with the types of `Values`; columns in `SetOnce` cannot be updated. */
export type Refined<Table, Values, SetOnce> = {
  [Column in keyof Table]: OnlyOnce<
    Column extends keyof Values ? Narrowed<Table[Column], Values[Column]> : Table[Column],
    Column extends SetOnce ? true : false
  >
}

type OnlyOnce<Column, IsOnce> = IsOnce extends true
  ? ColumnType<SelectType<Column>, InsertType<Column>, never>
  : Column

/** A full ColumnType is used as it is. Otherwise the column keeps its nullability and default. */
type Narrowed<Column, Value> = [Value] extends [ColumnType<unknown, unknown, unknown>]
  ? Value
  : UnknownDocument extends SelectType<Column>
    ? ColumnType<Value | Extract<SelectType<Column>, null>, InsertType<Column>, UpdateType<Column>>
    : ColumnType<
        Value | Extract<SelectType<Column>, null>,
        Value | Extract<InsertType<Column>, null | undefined>,
        Value | Extract<UpdateType<Column>, null>
      >
