// How values travel between our code and the columns of each type, and how a table is told what
// PostgreSQL does not know of it.
import type { ColumnType, InsertType, SelectType, UpdateType } from 'kysely'

/** timestamptz: read as the API writes it, see time.ts. */
export type Time = ColumnType<string, string | Date, string | Date>

/** bigint: read as text, because a number could not hold all of it. */
export type BigNumber = ColumnType<string, string | number, string | number>

declare const unread: unique symbol
/** A document whose type is not in `ColumnValues`. */
interface UnknownDocument {
  readonly [unread]: true
}
/** jsonb: read as a value, written as text. */
export type Json = ColumnType<UnknownDocument, string, string>

/** The columns of a table with their values from `Values`, and without updates of those in `SetOnce`. */
export type Refined<Table, Values, SetOnce> = {
  [Column in keyof Table]: OnlyOnce<
    Column extends keyof Values ? Narrowed<Table[Column], Values[Column]> : Table[Column],
    Column extends SetOnce ? true : false
  >
}

type OnlyOnce<Column, IsOnce> = IsOnce extends true
  ? ColumnType<SelectType<Column>, InsertType<Column>, never>
  : Column

/** A whole ColumnType is taken as it is. Otherwise the column stays as nullable and as optional as it is. */
type Narrowed<Column, Value> = [Value] extends [ColumnType<unknown, unknown, unknown>]
  ? Value
  : UnknownDocument extends SelectType<Column>
    ? ColumnType<Value | Extract<SelectType<Column>, null>, InsertType<Column>, UpdateType<Column>>
    : ColumnType<
        Value | Extract<SelectType<Column>, null>,
        Value | Extract<InsertType<Column>, null | undefined>,
        Value | Extract<UpdateType<Column>, null>
      >
