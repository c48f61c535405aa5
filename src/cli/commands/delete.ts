// ergon delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { confirmDeletion, isConfirmed } from '#cli/confirm-deletion.ts'
import { mbText, printJson, tell } from '#cli/output.ts'
import { getWorkload, workloadPath, type Workload } from '#cli/workloads.ts'
import type { workloadDeleted } from '#contract/workloads/workload-replies.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  if (!isConfirmed(options)) {
    const one = await getWorkload(options, name)
    const loss = `The workload ${name} would be deleted${withVolumes(one)}`
    await confirmDeletion(options, { name, loss, command: `ergon delete ${name}` })
  }
  const { text } = await apiDelete(options, workloadPath(name))
  if (options.json) printJson(replyOf<typeof workloadDeleted>({ text }))
  else tell(`${name} is deleted`)
}

const withVolumes = ({ volumes }: Workload): string =>
  volumes.length === 0
    ? ''
    : `, with the data of its volumes: ${volumes.map(({ name, used_bytes: used }) => `${name} (${mbText(used)})`).join(', ')}`
