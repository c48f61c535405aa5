// ergon admin tasks: background tasks, when they run, and the jobs that failed at their last attempt.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const tasks = await control(options, 'task.list', {})
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
