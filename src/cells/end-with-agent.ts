// The end of containers with their agent. No signal of death reaches processes that another program has started, so a shell
// outside of the groups waits for the end of the agent, however it comes, and kills all that is in them.
import { spawn } from 'node:child_process'
import type { Logger } from '#base/log.ts'

const SCRIPT = 'read -r word && exit; echo 1 > "$1/cgroup.kill"'
const AGAIN_MS = 1000

/** Watches over a group of version 2 until it is closed. A shell that ends before is started again. */
export function endWithAgent(
  group: string,
  { sh, log }: { readonly sh: string; readonly log: Logger },
): { close(): void } {
  let isClosed = false
  const start = () => {
    const child = spawn(sh, ['-c', SCRIPT, 'end-with-agent', group], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
      // Ctrl-C at the terminal is for the agent.
      detached: true,
    })
    child.on('error', () => undefined)
    child.stdin.on('error', () => undefined)
    child.once('close', () => {
      if (isClosed) return
      log.error('The shell that ends containers with the agent has ended, and is started again')
      setTimeout(() => isClosed || (running = start()), AGAIN_MS).unref()
    })
    child.unref()
    return child
  }
  let running = start()
  return {
    close() {
      isClosed = true
      running.stdin.end('\n')
    },
  }
}
