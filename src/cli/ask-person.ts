// Questions to a person at a terminal.
import { createInterface } from 'node:readline/promises'
import type { GlobalOptions } from './profile.ts'
import { tell } from './output.ts'

/** True where a person can be asked; with --json a program reads. */
export const isPersonThere = ({ json = false }: Pick<GlobalOptions, 'json'>): boolean =>
  process.stdin.isTTY && process.stderr.isTTY && !json

/** The answer from the terminal; empty after ^C and ^D. */
export async function answerTo(question: string): Promise<string> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await asking.question(question)).trim()
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error
    // The cursor is still behind the prompt.
    tell('')
    return ''
  } finally {
    asking.close()
  }
}
