-- The request comes from the environment, the report goes out as one line of JSON.
wrk.method = os.getenv('BENCH_METHOD')
wrk.body = os.getenv('BENCH_BODY')

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"durationUs":%d,"socketErrors":%d,"errorStatuses":%d,"p50Us":%d,"p95Us":%d}\n',
    summary.requests, summary.duration, errors.connect + errors.read + errors.write + errors.timeout,
    errors.status, latency:percentile(50), latency:percentile(95)))
end
