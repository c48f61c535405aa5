// Connections that accounts have open. An account has as many as any other that is there may have, so none takes them all.

const OPEN_MAX = 2000
const OF_ACCOUNT_MAX = 200

export interface ConnectionTurns {
  /** Gives the end of the turn; undefined where the account has its part. */
  take(account: string): (() => void) | undefined
}

export function createConnectionTurns(openMax = OPEN_MAX): ConnectionTurns {
  const open = new Map<string, number>()
  return {
    take(account) {
      const count = open.get(account) ?? 0
      const accounts = open.size + (count === 0 ? 1 : 0)
      if (count >= Math.min(OF_ACCOUNT_MAX, Math.floor(openMax / accounts))) return undefined
      open.set(account, count + 1)
      let isEnded = false
      return () => {
        if (isEnded) return
        isEnded = true
        const left = (open.get(account) ?? 1) - 1
        if (left === 0) open.delete(account)
        else open.set(account, left)
      }
    },
  }
}
