-- Health of a SampleJob from what its agents report. Argo CD runs this without the string and math libraries.
local scheduled = obj.spec ~= nil and obj.spec.schedule ~= nil
if obj.spec ~= nil and obj.spec.terminate == true then
  return { status = "Suspended", message = "The task is suspended" }
end
if obj.status == nil or obj.status.phase == nil or obj.status.phase == "" then
  if scheduled then
    return { status = "Healthy", message = "Waiting for the scheduled time" }
  end
  return { status = "Progressing", message = "Waiting for the agents to report" }
end
local status = obj.status
if status.observedGeneration ~= nil and obj.metadata.generation ~= nil
    and status.observedGeneration < obj.metadata.generation then
  return { status = "Progressing", message = "Waiting for the agents to see the newest spec" }
end
-- Of several partitions, the first one that failed speaks, else the first one that says anything.
local message, of_failed = nil, false
for _, attempt in ipairs(status.attempts or {}) do
  local failed = attempt.state == "failed"
  if attempt.message ~= nil and (message == nil or (failed and not of_failed)) then
    message, of_failed = attempt.message, failed
  end
end
if status.phase == "Succeeded" then
  for _, condition in ipairs(status.conditions or {}) do
    if condition.type == "CacheTooSmall" and condition.status == "True" then
      message = "The cache is too small: " .. (condition.message or condition.reason)
    end
  end
  return { status = "Healthy", message = message or "The task succeeded" }
end
if status.phase == "Failed" then
  return { status = "Degraded", message = message or "The task failed" }
end
if scheduled then
  return { status = "Healthy", message = message or "The task is running" }
end
return { status = "Progressing", message = message or "The task is running" }
