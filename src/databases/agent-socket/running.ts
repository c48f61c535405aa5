// The servers that run, for the process of backups: an answer that stays open has a line for each.
import type { ServerResponse } from 'node:http'
import { lineOf } from '#node/agent-socket/json-lines.ts'

/** A server runs; it is about to end; all that run have been named. */
export type RunningLine =
  | { readonly started: string }
  | { readonly ended: string }
  | { readonly areAll: true }

export interface RunningServers {
  follow(response: ServerResponse): void
  /** Tells that the server of a database has started, or is about to end. */
  tell(id: string, isRunning: boolean): void
}

export function createRunning(): RunningServers {
  const responses = new Set<ServerResponse>()
  const ids = new Set<string>()
  const say = (response: ServerResponse, line: RunningLine) => void response.write(lineOf(line))
  return {
    follow(response) {
      response.writeHead(200)
      responses.add(response)
      response.once('close', () => responses.delete(response))
      for (const id of ids) say(response, { started: id })
      say(response, { areAll: true })
    },
    tell(id, isRunning) {
      if (isRunning) ids.add(id)
      else ids.delete(id)
      for (const response of responses) say(response, isRunning ? { started: id } : { ended: id })
    },
  }
}
