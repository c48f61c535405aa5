// The servers that run, for the process of backups: an answer that stays open has a line for each change.
import type { ServerResponse } from 'node:http'
import { cellNameOf } from '#databases/server/servers.ts'

/** The databases whose servers run, and the names of their cells. */
export type RunningLine = Readonly<Record<string, string>>

export interface RunningAnswers {
  follow(response: ServerResponse): void
  tell(ids: readonly string[]): void
}

export function createRunning(): RunningAnswers {
  const responses = new Set<ServerResponse>()
  let line = '{}\n'
  return {
    follow(response) {
      response.writeHead(200)
      responses.add(response)
      response.once('close', () => responses.delete(response))
      response.write(line)
    },
    tell(ids) {
      const running: RunningLine = Object.fromEntries(ids.map((id) => [id, cellNameOf(id)]))
      line = `${JSON.stringify(running)}\n`
      for (const response of responses) response.write(line)
    },
  }
}
