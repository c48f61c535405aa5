// The type of an operation of the operator: a request and an answer, both with a schema. The name is the path:
// POST /account.create on control.sock.
import type { z } from 'zod'

export type ControlOperation = {
  /** All parameters; a field that is not listed is refused. */
  readonly request: z.ZodObject
  /** The field `result` of the answer. */
  readonly answer: z.ZodType
  /** The field `progress` of each line before the answer, where the operation tells how far it is. */
  readonly progress?: z.ZodType
}

/** Operations by name: `<noun>.<verb>`. */
export type ControlTable = Readonly<Record<string, ControlOperation>>

type ProgressOf<Operation extends ControlOperation> =
  Operation['progress'] extends z.ZodType<infer Progress> ? Progress : never

/** The second argument of a handler, beside the request. */
export type ControlCall<Progress = unknown> = {
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal
  /** Sends a line of progress; from the first line on, the answer is JSON lines. */
  readonly progress: (line: Progress) => void
}

/** A handler of each operation of a table. */
export type ControlHandlers<Table extends ControlTable> = {
  readonly [Name in keyof Table]: (
    request: z.output<Table[Name]['request']>,
    call: ControlCall<ProgressOf<Table[Name]>>,
  ) =>
    | JsonSendable<z.output<Table[Name]['answer']>>
    | Promise<JsonSendable<z.output<Table[Name]['answer']>>>
}

/** A value that is sent as `T`: JSON writes dates and big integers as text, and leaves out what is undefined. */
export type JsonSendable<T> = T extends string
  ? T | Date | bigint
  : T extends readonly (infer Item)[]
    ? readonly JsonSendable<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: JsonSendable<T[Key]> }
      : T

/** The request as the command line sends it. */
export type RequestOf<Operation extends ControlOperation> = z.input<Operation['request']>
export type AnswerOf<Operation extends ControlOperation> = z.output<Operation['answer']>
export type LineOf<Operation extends ControlOperation> = ProgressOf<Operation>
