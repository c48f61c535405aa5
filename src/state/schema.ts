// The state's own tables; and the shape in which each area declares the tables and functions it owns.

/** The tables and functions of one area. Foreign keys point to the same area or to an earlier one. */
export type Schema = {
  readonly area: string
  /** Folder of NNNN_<what>.sql files: forward only, each applied once. A merged file never changes. */
  readonly tables: URL
  /** Files that are run at every start, in this order: functions, replaced as a whole. */
  readonly functions: readonly URL[]
}

export const STATE_SCHEMA: Schema = {
  area: 'state',
  tables: new URL('./schema/', import.meta.url),
  functions: [new URL('./alarms.sql', import.meta.url)],
}
