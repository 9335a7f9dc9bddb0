<?php
// A client on php-gearman: client.php PORT. See README.md for what it reads and says.

function say(string $line): void
{
    fwrite(STDOUT, "$line\n");
}

function bytes(string $data): string
{
    return $data === '' ? '-' : bin2hex($data);
}

function newClient(int $port): GearmanClient
{
    $client = new GearmanClient();
    $client->addServer('127.0.0.1', $port);
    return $client;
}

function listen(GearmanClient $client): void
{
    $client->setDataCallback(fn (GearmanTask $task) => say('data ' . bytes($task->data())));
    $client->setWarningCallback(fn (GearmanTask $task) => say('warning ' . bytes($task->data())));
    $client->setStatusCallback(
        fn (GearmanTask $task) => say("status {$task->taskNumerator()} {$task->taskDenominator()}"),
    );
    $client->setExceptionCallback(fn (GearmanTask $task) => say('exception ' . bytes($task->data())));
    $client->setFailCallback(fn (GearmanTask $task) => say('fail'));
    $client->setCompleteCallback(fn (GearmanTask $task) => say('complete ' . bytes($task->data())));
}

function run(GearmanClient $client): void
{
    $ended = @$client->runTasks();
    $expected = [GEARMAN_SUCCESS, GEARMAN_WORK_FAIL, GEARMAN_WORK_EXCEPTION];
    if ($client->returnCode() === GEARMAN_TIMEOUT) {
        say('timeout');
    } elseif (!$ended && !in_array($client->returnCode(), $expected, true)) {
        say('error ' . $client->error());
    }
}

/** The call that returns for each packet that comes for its one job. */
function one(GearmanClient $client, string $fn, string $data): void
{
    do {
        $result = @$client->doNormal($fn, $data);
        $code = $client->returnCode();
        say(match ($code) {
            GEARMAN_SUCCESS => 'complete ' . bytes((string) $result),
            GEARMAN_WORK_DATA => 'data ' . bytes((string) $result),
            GEARMAN_WORK_WARNING => 'warning ' . bytes((string) $result),
            GEARMAN_WORK_STATUS => 'status ' . implode(' ', $client->doStatus()),
            GEARMAN_WORK_EXCEPTION => 'exception ' . bytes((string) $result),
            GEARMAN_WORK_FAIL => 'fail',
            GEARMAN_TIMEOUT => 'timeout',
            default => 'error ' . $client->error(),
        });
    } while (in_array($code, [GEARMAN_WORK_DATA, GEARMAN_WORK_WARNING, GEARMAN_WORK_STATUS], true));
}

function created(GearmanClient $client, string|false $handle): void
{
    say($client->returnCode() === GEARMAN_SUCCESS ? "created $handle" : 'error ' . $client->error());
}

$port = (int) $argv[1];
$tasks = newClient($port);
$tasks->enableExceptionHandler();
listen($tasks);
$single = newClient($port);

$verbs = [
    'do' => function ($fn, $data) use ($tasks) {
        $tasks->addTask($fn, $data);
        run($tasks);
    },
    'high' => function ($fn, $data) use ($tasks) {
        $tasks->addTaskHigh($fn, $data);
        run($tasks);
    },
    'low' => function ($fn, $data) use ($tasks) {
        $tasks->addTaskLow($fn, $data);
        run($tasks);
    },
    'one' => fn ($fn, $data) => one($single, $fn, $data),
    'one-high' => fn ($fn, $data) => say('complete ' . bytes($single->doHigh($fn, $data))),
    'one-low' => fn ($fn, $data) => say('complete ' . bytes($single->doLow($fn, $data))),
    'bg' => fn ($fn, $data, $unique) => created($single, $single->doBackground($fn, $data, $unique)),
    'bg-high' => fn ($fn, $data, $unique) =>
        created($single, $single->doHighBackground($fn, $data, $unique)),
    'bg-low' => fn ($fn, $data, $unique) =>
        created($single, $single->doLowBackground($fn, $data, $unique)),
    // One background task of each priority in one run.
    'bg-tasks' => function ($fn, $data) use ($port) {
        $client = newClient($port);
        $client->setCreatedCallback(fn (GearmanTask $task) => say('created ' . $task->jobHandle()));
        $client->addTaskLowBackground($fn, "{$data}low");
        $client->addTaskBackground($fn, "{$data}normal");
        $client->addTaskHighBackground($fn, "{$data}high");
        run($client);
    },
    'set' => function ($fn, $data, $count) use ($tasks) {
        for ($i = 0; $i < (int) $count; $i++) {
            $tasks->addTask($fn, $data . $i);
        }
        run($tasks);
    },
    'same' => function ($fn, $data, $count, $unique) use ($tasks) {
        for ($i = 0; $i < (int) $count; $i++) {
            $tasks->addTask($fn, $data, null, $unique);
        }
        run($tasks);
    },
    'status' => function ($fn, $data, $handle) use ($single) {
        [$known, $running, $done, $of] = $single->jobStatus($handle);
        say(sprintf('known %d %d %d %d', $known, $running, $done, $of));
    },
    // On a client of its own: the library loses count of the tasks of one that has asked this.
    'unique' => function ($fn, $data, $unique) use ($port) {
        [$known, $running, $done, $of] = newClient($port)->jobStatusByUniqueKey($unique);
        say(sprintf('known %d %d %d %d', $known, $running, $done, $of));
    },
    // The status of a job as a task.
    'task-status' => function ($fn, $data, $handle) use ($port) {
        $client = newClient($port);
        $client->setStatusCallback(fn (GearmanTask $task) => say(sprintf(
            'known %d %d %d %d',
            $task->isKnown(),
            $task->isRunning(),
            $task->taskNumerator(),
            $task->taskDenominator(),
        )));
        $client->addTaskStatus($handle);
        run($client);
    },
    'ping' => fn ($fn, $data) => say('echo ' . ($single->ping($data) ? 'Success' : $single->error())),
    'patience' => function ($fn, $data, $ms) use ($tasks, $single) {
        $tasks->setTimeout((int) $ms);
        $single->setTimeout((int) $ms);
    },
];

while (($line = fgets(STDIN)) !== false) {
    [$verb, $fn, $hex, $extra, $unique] = array_pad(explode(' ', trim($line)), 5, '');
    $verbs[$verb]($fn, $hex === '-' ? '' : hex2bin($hex), $extra, $unique);
    say('.');
}
