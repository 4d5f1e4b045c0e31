import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOomKill } from './oom-report.ts'

const record =
  '3,1234,5678,-;Memory cgroup out of memory: Killed process 4242 (chrome (x)) total-vm:9kB, anon-rss:100kB, file-rss:20kB, shmem-rss:3kB, UID:70001 pgtables:1kB oom_score_adj:300'

test('finds the killed process of a uid in the kernel log', () => {
  assert.deepEqual(parseOomKill(record, 70_001), { processName: 'chrome (x)', pid: 4242, rssKb: 123 })
  assert.equal(parseOomKill(record, 70_002), undefined)
  assert.equal(parseOomKill('6,1,2,-;something else', 70_001), undefined)
})
