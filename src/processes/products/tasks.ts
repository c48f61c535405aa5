// The background tasks of all areas. A product adds one line.
import { ledgerTasks } from '#ledger/tasks.ts'
import { objectsTasks } from '#objects/tasks.ts'
import type { Tasks } from '#tasks/task.ts'

/** The dependencies of all tasks. */
export type TaskCore = Parameters<typeof ledgerTasks>[0] & Parameters<typeof objectsTasks>[0]

export const TASKS: readonly ((core: TaskCore) => Tasks)[] = [ledgerTasks, objectsTasks]
