// ergon db upgrade: asks for it, tells its steps, and names the extensions that changed.
import type { CommandCall } from '#cli/call.ts'
import { changeDatabase, printDatabase, waitForStatus, type Database } from '#cli/databases.ts'
import { printJson, tell, tellStep } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const before = await changeDatabase(options, name, { upgrade: true })
  let shownStep = ''
  const tellOnce = (step: string) => {
    if (step !== shownStep) tellStep(options, `upgrade of ${name}: ${step}`)
    shownStep = step
  }
  const database = await waitForStatus(options, name, 'deployed', (seen) => {
    if (!seen.upgrading) return
    tellOnce(isAwake(seen) ? 'the extensions are updated' : 'its server starts')
  })
  const changes = changeWords(before, database)
  if (options.json) {
    tellOnce(changes)
    return printJson(database)
  }
  tell(`${name} is upgraded: ${changes}`)
  printDatabase(database)
}

const isAwake = ({ last_awake: last }: Database): boolean => last !== null && last.to === null

function changeWords(before: Database, after: Database): string {
  const versions = new Map(before.extensions.map(({ name, version }) => [name, version]))
  const changed = after.extensions.flatMap(({ name, version }) => {
    const old = versions.get(name)
    return old === undefined || old === version ? [] : [`${name} ${old} is now ${version}`]
  })
  return changed.join(', ') || 'no extension changed'
}
