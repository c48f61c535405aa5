// Runs commands of `ergon` one after another, each requested by cli-process.ts in a message. A process of its own
// costs each command 0.3 s of CPU to load the SDK; here that is paid once. The output goes into the answer.
import { runCommandLine } from '#cli/program.ts'
import type { Asked, Outcome } from './cli-process.ts'

const said = { stdout: '', stderr: '' }
for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (text: Uint8Array | string) => {
    said[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
    return true
  }

async function outcomeOf({ words, env }: Asked): Promise<Outcome> {
  Object.assign(said, { stdout: '', stderr: '' })
  process.env = { ...env }
  process.exitCode = 0
  await runCommandLine([process.execPath, 'ergon', ...words])
  const code = Number(process.exitCode)
  process.exitCode = 0
  // Each run adds its own, as the only one of a process.
  for (const name of ['stdout', 'stderr'] as const) process[name].removeAllListeners('error')
  return { code, ...said }
}

process.on('message', async (asked: Asked) => process.send?.(await outcomeOf(asked)))
