// The whole address of a request at once, which the protocol reads in two steps.

import { parsePlace, targetAt, type BaseHosts, type S3Target } from './target.ts'

export const parseTarget = (rawTarget: string, host: string, bases: BaseHosts): S3Target =>
  targetAt(parsePlace(rawTarget, host, bases))
