import { canDo, type Case, casesOf, grabs, type Step } from '../script.ts'

const submit = (fn: string, payload: string, priority = ''): Step => [
  'client',
  `SUBMIT_JOB${priority}_BG` as 'SUBMIT_JOB_BG',
  fn,
  '',
  payload,
]

/** Cases in which the order of gearmand 2.0 differs from that of 1.1. */
export const versionCases: readonly Case[] = casesOf({
  'a high job of one function and a low job of the function named last': [
    submit('a', 'high', '_HIGH'),
    submit('b', 'low', '_LOW'),
    ...canDo('worker', 'a', 'b'),
    ...grabs(3),
  ],
  'priorities of three functions': [
    submit('a', 'a low', '_LOW'),
    submit('b', 'b normal'),
    submit('c', 'c low', '_LOW'),
    submit('a', 'a high', '_HIGH'),
    submit('c', 'c normal'),
    submit('b', 'b high', '_HIGH'),
    ...canDo('worker', 'c', 'b', 'a'),
    ...grabs(7),
  ],
  'functions take turns without -R': [
    submit('a', 'a1'),
    submit('a', 'a2'),
    submit('b', 'b1'),
    submit('b', 'b2'),
    ...canDo('worker', 'a', 'b'),
    ...grabs(5),
  ],
  'jobs of one function and priority': [
    submit('a', '1'),
    submit('a', '2'),
    submit('a', '3'),
    ...canDo('worker', 'a'),
    ...grabs(4),
  ],
})
