// The cells that turn postings into receipts: five signers, each with its own folder and uid, and the
// jobs process that asks them.
import type { Cell, Cells } from '#cells/cell.ts'
import type { JobsConfig } from './programs/jobs.ts'
import { SIGNER_FLAGS } from '#signers/flags.ts'
import { sharesText } from '#signers/shares.ts'
import type { SignerShares } from './signer-watch.ts'
import type { SignerConfig } from '#signers/signer.ts'
import type { StateAddress } from '#state/connect.ts'
import { ask, programCell, START_TIMEOUT_MS, type ProgramPlace } from '#node/cell-specs.ts'
import type { DataFolder } from '#node/data-folder.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'

export const JOBS_PROGRAM: Program = { file: 'receipts/programs/jobs.ts', flags: [ONE_COLLECTOR] }
export const SIGNER_PROGRAM: Program = {
  file: 'signers/programs/signer.ts',
  flags: [ONE_COLLECTOR, ...SIGNER_FLAGS],
}
const SIGNER_SOCKETS = 'signers'
const SIGNERS = [1, 2, 3, 4, 5] as const
export const SIGNERS_HERE = { count: SIGNERS.length, threshold: 3, hosts: 1 } as const

/** Starts signers and jobs; resolves when they answer, with the shares of the key that are lost, in words. */
export async function startSealing(deps: {
  cells: Cells
  data: DataFolder
  place: ProgramPlace
  address: StateAddress
  signal: AbortSignal
}): Promise<string[]> {
  const { cells, place } = deps
  const signers = await Promise.all(SIGNERS.map((index) => startSigner(deps, index)))
  const config: Omit<JobsConfig, 'socket' | 'logLevel'> = {
    state: deps.address,
    signers: signers.map((cell) => cell.socket),
  }
  const jobs = await cells.start(
    programCell(JOBS_PROGRAM, {
      name: 'jobs',
      place,
      config,
      socketGroup: 'jobs',
      calls: [STATE_SOCKETS, SIGNER_SOCKETS],
    }),
  )
  const limit = AbortSignal.any([deps.signal, AbortSignal.timeout(START_TIMEOUT_MS)])
  await Promise.all([...signers, jobs].map((cell) => cell.ready(limit)))
  const { lost } = (await ask(jobs.socket, '/signers', limit)) as SignerShares
  return lost.length === 0 ? [] : [`receipts: ${sharesText(lost)}`]
}

function startSigner(
  { cells, data, place }: { cells: Cells; data: DataFolder; place: ProgramPlace },
  index: number,
): Promise<Cell> {
  const folder = data.at('signers', String(index))
  const config: Omit<SignerConfig, 'socket' | 'logLevel'> = { index, folder }
  return cells.start(
    programCell(SIGNER_PROGRAM, {
      name: `signer-${index}`,
      place,
      config,
      socketGroup: SIGNER_SOCKETS,
      writes: [folder],
      // A signer holds a part of a key: only its socket reaches it.
      network: 'none',
    }),
  )
}
