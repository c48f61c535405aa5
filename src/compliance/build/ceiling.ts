// The most that the work of a pack may be billed. It reads each receipt twice, proves it and compresses it.
import { NJ_PER_J } from '#base/units.ts'

const BASE_NJ = 20n * NJ_PER_J
/** Measured: 0.2 ms of CPU a receipt, 1 mJ at 5 W. The ceiling is ten times that, for a loaded machine. */
const RECEIPT_NJ = 10_000_000n

/** The ceiling by the number of receipts of the time. */
export const ceilingOfPack = (receipts: bigint): bigint => BASE_NJ + receipts * RECEIPT_NJ
