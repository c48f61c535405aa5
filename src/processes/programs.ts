// The programs that run as cells.
import { MODEL_PROGRAM } from '#inference/models/fleet.ts'
import { STORAGE_PROGRAM } from '#objects/upkeep/storage-cell.ts'
import { JOBS_PROGRAM, SIGNER_PROGRAM } from '#receipts/sealing.ts'
import { GATEWAY_PROGRAM } from './gateways.ts'

/** Their code is compiled before the first of them starts. */
export const PROGRAMS = [
  GATEWAY_PROGRAM,
  JOBS_PROGRAM,
  SIGNER_PROGRAM,
  MODEL_PROGRAM,
  STORAGE_PROGRAM,
]
