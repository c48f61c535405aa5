// The choosing of tokens under grammars, which no weight of a step foresees: what each takes is its own.
import { refuse } from './fields.ts'
import type { CpuAccount, StepShare } from './step-clock.ts'

/** CPU of one token's grammar, after which its request ends. Three times the most of an admitted one. */
export const TOKEN_CPU_NS_MAX = 1_000_000_000n

/** One generation's; at most one token of it is being chosen at a time. */
export type TokenTimer = {
  /** `param`: the field of the request that its grammar came from. */
  begin(param: string): void
  /** Throws `invalid_request` when that token took too long. */
  end(): void
  /** Ends the token that is being chosen, if any, without a limit: the engine may fail in the middle of one. */
  close(): void
}

/** A token that is being chosen, and the CPU since that began. */
export type RunningSampling = {
  readonly account: CpuAccount
  readonly cpuMs: number
  readonly param: string
}

export type Samplings = {
  open(account: CpuAccount): TokenTimer
  /** Time that each took since the last call, also of those that run. */
  shares(): StepShare[]
  running(): RunningSampling[]
}

type Sources = { readonly processNs: () => bigint; readonly wallNs: () => bigint }
type Run = {
  readonly account: CpuAccount
  readonly param: string
  readonly cpuNs: bigint
  readonly wallNs: bigint
  toldNs: bigint
}

export function createSamplings({ processNs, wallNs }: Sources): Samplings {
  const runs = new Set<Run>()
  let ended: StepShare[] = []
  const shareOf = (run: Run): StepShare => {
    const nowNs = wallNs()
    const weight = nowNs - run.toldNs
    run.toldNs = nowNs
    return { account: run.account, weight }
  }
  /** No thread can have spent more than the time that passed, nor more than its process. */
  const spentNs = (run: Run): bigint => {
    const cpuNs = processNs() - run.cpuNs
    const passedNs = wallNs() - run.wallNs
    return cpuNs < passedNs ? cpuNs : passedNs
  }
  return {
    open(account) {
      let run: Run | undefined
      /** Returns what the token took. */
      const stop = (): bigint => {
        if (run === undefined) return 0n
        const tookNs = spentNs(run)
        ended.push(shareOf(run))
        runs.delete(run)
        run = undefined
        return tookNs
      }
      return {
        begin(param) {
          stop()
          run = { account, param, cpuNs: processNs(), wallNs: wallNs(), toldNs: wallNs() }
          runs.add(run)
        },
        end() {
          const param = run?.param ?? ''
          const took = stop()
          if (took > TOKEN_CPU_NS_MAX)
            throw refuse(param, `its schema took ${took / 1_000_000n} ms for one token`)
        },
        close: () => void stop(),
      }
    },
    shares() {
      const shares = [...ended, ...[...runs].map(shareOf)]
      ended = []
      return shares.filter(({ weight }) => weight > 0n)
    },
    running: () =>
      [...runs].map((run) => ({
        account: run.account,
        cpuMs: Number(spentNs(run) / 1_000_000n),
        param: run.param,
      })),
  }
}
