-- The request comes from the environment, the report goes out as one line of JSON.
wrk.method = os.getenv('BENCH_METHOD')
wrk.body = os.getenv('BENCH_BODY')

local requests = {}
local count = 0

function init()
  for path in os.getenv('BENCH_PATHS'):gmatch('%S+') do
    requests[#requests + 1] = wrk.format(nil, path)
  end
  if #requests == 0 then requests[1] = wrk.format() end
end

function request()
  count = count + 1
  return requests[(count - 1) % #requests + 1]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"durationUs":%d,"socketErrors":%d,"errorStatuses":%d,"p50Us":%d,"p95Us":%d}\n',
    summary.requests, summary.duration, errors.connect + errors.read + errors.write + errors.timeout,
    errors.status, latency:percentile(50), latency:percentile(95)))
end
