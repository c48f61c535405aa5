// The bundles of our programs: one file for each, and files that several share. A start reads some 30 files of a gateway in
// place of 900, which takes half of the CPU that loading it took.
import { basename, join } from 'node:path'

/** The file of the agent's program, from src/. */
export const AGENT_FILE = 'processes/run-agent.ts'
/** In the data folder: what compilePrograms() makes. */
export const COMPILED_FOLDER = 'compiled'
/** In a folder of compiled code. */
const BUNDLES = 'programs'

export const bundlesIn = (compiled: string): string => join(compiled, BUNDLES)

/** The file of a program's bundle, from the file of the program. Names of programs are unique, or esbuild fails. */
export const bundleOf = (file: string): string => `${basename(file).replace(/\.m?[jt]s$/, '')}.mjs`
