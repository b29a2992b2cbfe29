-- Health of a Dataset from what its agents report. Argo CD runs this without the string and math libraries.
local health = { status = "Progressing", message = "Waiting for the agents to report" }
local spec = obj.spec or {}
local cached = spec.cache ~= nil and spec.volume ~= nil and spec.volume.juicefs ~= nil
if not cached and spec.source == nil then
  -- Nothing runs for such a dataset, so nothing reports.
  return { status = "Healthy", message = "The volume holds the data already" }
end
if obj.status == nil then
  return health
end
local status = obj.status
if status.observedGeneration ~= nil and obj.metadata.generation ~= nil
    and status.observedGeneration < obj.metadata.generation then
  health.message = "Waiting for the agents to see the newest spec"
  return health
end
-- What keeps the dataset from its next step is told by the condition that waits for it; these reasons say that nothing
-- does.
local plain = {
  NotStarted = true, Running = true, Suspended = true, Succeeded = true, NoSync = true, running = true, waiting = true,
  Bound = true, Mount = true, Syncing = true, SyncFailed = true, PartialReady = true, Ready = true,
}
local small, kept = nil, nil
if status.conditions ~= nil then
  for _, condition in ipairs(status.conditions) do
    if condition.type == "Stalled" and condition.status == "True" then
      return { status = "Degraded", message = condition.message or condition.reason }
    end
    if condition.type == "CacheTooSmall" and condition.status == "True" then
      small = "The cache is too small: " .. (condition.message or condition.reason)
    end
    local first = condition.type == "Ready" or (condition.type == "Synced" and kept == nil)
    if first and condition.status == "False" and not plain[condition.reason] then
      kept = condition.message or condition.reason
    end
  end
end
local messages = {
  Bound = "The volume is bound",
  Mount = "The first cache pod has mounted the volume",
  Syncing = "The data is being copied",
  PartialReady = "Some cache pods are not ready",
}
if status.phase == "Ready" then
  local message = small or (cached and "All cache pods are ready") or "The volume holds the data"
  return { status = "Healthy", message = message }
end
if status.phase == "SyncFailed" then
  local message = "The sync failed"
  for _, attempt in ipairs(status.attempts or {}) do
    if attempt.task == "sync" and attempt.state == "failed" then
      message = attempt.message or message
    end
  end
  return { status = "Degraded", message = message }
end
health.message = kept or messages[status.phase] or health.message
return health
