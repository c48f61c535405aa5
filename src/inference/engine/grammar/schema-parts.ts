// Shared by the parts of a schema's grammar while it is made.
import type { Budget } from './budget.ts'
import type { Expr, Rules } from './grammar.ts'
import type { SchemaDocument } from './schema-document.ts'

export type GrammarWriting = {
  readonly rules: Rules
  readonly budget: Budget
  /** The text after each name, and between fields. */
  readonly colon: Expr
  readonly comma: Expr
}

/** The writers of nested values, for objects and arrays. */
export type SchemaParts = GrammarWriting & {
  readonly document: SchemaDocument
  /** A value of schemas that hold at once; undefined: there is none. */
  value(schemas: readonly unknown[], depth: number): Expr | undefined
  /** The same, and whether it may lead back to where it stands. */
  field(schemas: readonly unknown[], depth: number): { value: Expr | undefined; loops: boolean }
}
