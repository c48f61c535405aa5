// The names of tests: each is in the tree once, so that a failure leads to one line, and begins with its subject.
import type { Fault } from './tidy-contract.ts'

/** A test or a group of tests, with the quote of its name. */
const DECLARED =
  /^( *)(?:await )?(?:\w+\.)?(?:test|it|suite|describe)\(\s*(['"`])((?:\\.|(?!\2)[^\\])*)\2/gm

/** Words that put something else before the subject. */
const NO_SUBJECT =
  /^(?:what|who|whom|whose|whoever|which|it|its|they|their|these|those|this|that|of|is|are|has)\b/

const isTestFile = (path: string): boolean =>
  /\.test\.tsx?$/.test(path) && !path.startsWith('test/toy-product/files/')

/** Faults of the names in all test files of the tree. */
export function testNameFaults(paths: readonly string[], read: (path: string) => string): Fault[] {
  const seen = new Map<string, string>()
  return paths.filter(isTestFile).flatMap((path) =>
    namesIn(read(path)).flatMap(({ name, line, isIndented }): Fault[] => {
      const earlier = seen.get(name)
      seen.set(name, `${path}:${line}`)
      if (earlier !== undefined) return [{ path, line, rule: `a test of ${earlier} has this name` }]
      // In a group the name of the group is the subject.
      if (isIndented || !NO_SUBJECT.test(name)) return []
      return [{ path, line, rule: `the name of a test begins with its subject: ${name}` }]
    }),
  )
}

type TestName = { readonly name: string; readonly line: number; readonly isIndented: boolean }

/** The names of a file's tests and groups, as they stand there. */
export const namesIn = (text: string): TestName[] =>
  [...text.matchAll(DECLARED)].map(({ 1: indentation = '', 3: name = '', index }) => ({
    name,
    line: text.slice(0, index).split('\n').length,
    isIndented: indentation !== '',
  }))
