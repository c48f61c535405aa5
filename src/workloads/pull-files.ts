// The files of pulls: of those that go on, and of those that broke off, which the next pull of the same version uses.
import { sep } from 'node:path'
import type { Removals } from './removals.ts'

export interface PullFiles {
  /** The files of a pull that begins stay; those that its account has left of other pulls go. */
  begin(pull: PullOfAccount): void
  /** The files go now, or after some time where another try can use them. */
  end(pull: PullOfAccount, isOfUse: boolean): void
  /** True where they must stay. */
  has(cell: string): boolean
  /** True where a pull goes on that has its files below the folder. */
  isUsed(folder: string): boolean
}

type PullOfAccount = { readonly cell: string; readonly account: string; readonly folder: string }
type LeftFiles = { readonly pull: PullOfAccount; readonly timer: NodeJS.Timeout }

const LEFT_MS = 3_600_000

export function createPullFiles(removals: Removals, leftMs = LEFT_MS): PullFiles {
  const running = new Map<string, PullOfAccount>()
  /** The left files by account: an account has one pull at a time, and so files of one pull at most. */
  const left = new Map<string, LeftFiles>()
  const remove = ({ folder }: PullOfAccount) => {
    removals.take(folder)
    removals.run()
  }
  const forget = (account: string): PullOfAccount | undefined => {
    const found = left.get(account)
    clearTimeout(found?.timer)
    left.delete(account)
    return found?.pull
  }
  return {
    begin(pull) {
      const { cell, account } = pull
      running.set(cell, pull)
      const before = forget(account)
      if (before !== undefined && before.cell !== cell) remove(before)
    },
    end(pull, isOfUse) {
      running.delete(pull.cell)
      if (!isOfUse) return remove(pull)
      const before = forget(pull.account)
      if (before !== undefined) remove(before)
      const timer = setTimeout(() => {
        left.delete(pull.account)
        remove(pull)
      }, leftMs).unref()
      left.set(pull.account, { pull, timer })
    },
    has: (cell) => running.has(cell) || left.values().some(({ pull }) => pull.cell === cell),
    isUsed: (folder) => running.values().some((pull) => pull.folder.startsWith(`${folder}${sep}`)),
  }
}
