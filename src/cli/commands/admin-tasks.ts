// ergon admin tasks: background tasks, when they run, and the jobs that failed at their last attempt.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

type Task = {
  name: string
  last_run: string | null
  next_run: string | null
  running: boolean
  attempt: number
  attempts: number
  progress: { done: number; total: number } | null
  runs: number
  failures: number
  dead: { id: string; error: string; age_s: number }[]
}

export async function run({ options }: CommandCall): Promise<void> {
  const tasks = (await control(options, { method: 'GET', path: '/tasks' })) as Task[]
  if (options.json) return printJson(tasks)
  print(
    table(
      ['TASK', 'LAST RUN', 'NEXT RUN', 'PROGRESS', 'ATTEMPT', 'RUNS', 'FAILED'],
      tasks.map((task) => [
        task.name,
        task.last_run ?? '-',
        task.running ? 'running' : (task.next_run ?? '-'),
        task.progress === null ? '-' : `${task.progress.done}/${task.progress.total}`,
        `${task.attempt}/${task.attempts}`,
        String(task.runs),
        String(task.failures),
      ]),
    ),
  )
  const dead = tasks.flatMap((task) => task.dead.map((job) => [job.id, task.name, job] as const))
  if (dead.length === 0) return
  print('')
  print(
    table(
      ['DEAD', 'TASK', 'AGE', 'ERROR'],
      dead.map(([id, name, { age_s: ageS, error }]) => [id, name, `${ageS} s`, error]),
    ),
  )
}
