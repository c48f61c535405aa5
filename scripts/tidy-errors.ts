// A class of errors has a reason: some code tells its errors apart from others. All further failures are ErgonError with a
// code, or Failure.
import type { Fault } from './tidy-contract.ts'

const ERROR_CLASS = /^(?:export )?class (\w+) extends \w*(?:Error|Failure|Fault)\b/gm
/** The class of the product, and the two that end a program or a request without being asked for. */
const OWN: ReadonlySet<string> = new Set(['ErgonError', 'Failure', 'InvariantError'])

const isCode = (path: string): boolean =>
  /^(?:src|portal\/src)\/.*\.tsx?$/.test(path) && !/\.(?:test|fixture)\.tsx?$/.test(path)

/** Classes of errors that no `instanceof` asks for, outside of tests. */
export function errorClassFaults(
  paths: readonly string[],
  read: (path: string) => string,
): Fault[] {
  const texts = paths.filter(isCode).map((path) => ({ path, text: read(path) }))
  const asked = new Set(
    texts.flatMap(({ text }) => [...text.matchAll(/instanceof (\w+)/g)].map(([, name]) => name)),
  )
  return texts.flatMap(({ path, text }) =>
    [...text.matchAll(ERROR_CLASS)]
      .filter(([, name = '']) => !asked.has(name) && !OWN.has(name))
      .map(({ 1: name = '', index }) => ({
        path,
        line: text.slice(0, index).split('\n').length,
        rule: `nothing asks for the class ${name}: throw a Failure, or an ErgonError with a code`,
      })),
  )
}
