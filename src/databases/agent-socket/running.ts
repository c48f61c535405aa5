// The servers that run, for the process of backups: a request that stays open gets a line for each.
import type { OpenRequest } from '#node/agent-socket/serve-agent.ts'

/** A server runs; it is about to end; all that run have been named. */
export type RunningLine =
  | { readonly started: string }
  | { readonly ended: string }
  | { readonly areAll: true }

export interface RunningServers {
  follow(request: OpenRequest<RunningLine>): void
  /** Tells that the server of a database has started, or is about to end. */
  tell(id: string, isRunning: boolean): void
}

export function createRunning(): RunningServers {
  const requests = new Set<OpenRequest<RunningLine>>()
  const ids = new Set<string>()
  return {
    follow(request) {
      requests.add(request)
      request.whenEnded(() => requests.delete(request))
      for (const id of ids) request.say({ started: id })
      request.say({ areAll: true })
    },
    tell(id, isRunning) {
      if (isRunning) ids.add(id)
      else ids.delete(id)
      for (const request of requests) request.say(isRunning ? { started: id } : { ended: id })
    },
  }
}
